"""Tutorial 1, hello: sends one message with properties and headers."""
import pika
from client import arguments, connect

connection = connect()
channel = connection.channel()
queue, = arguments
channel.queue_declare(queue)
properties = pika.BasicProperties(
    content_type="text/plain", delivery_mode=2, priority=3, correlation_id="c-1", message_id="m-1", timestamp=1700000000, type="greeting",
    headers={"count": 3, "big": 5000000000, "flag": True, "none": None, "text": "grüß", "nested": {"list": [1, "two", False]}})
channel.basic_publish("", queue, "Hello World!".encode(), properties)
connection.close()

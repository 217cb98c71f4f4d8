"""A mandatory message that no queue takes is returned, then confirmed."""
import pika
from client import arguments, connect, say

connection = connect()
channel = connection.channel()
key, = arguments
channel.confirm_delivery()
try:
    channel.basic_publish("amq.direct", key, b"come back", pika.BasicProperties(message_id="m-1"), mandatory=True)
except pika.exceptions.UnroutableError as error:
    for m in error.messages:
        say(m.method.reply_code, m.method.reply_text, m.method.exchange, m.method.routing_key, m.properties.message_id, m.body.decode())
channel.queue_declare(key, exclusive=True)
channel.queue_bind(key, "amq.direct", key)
channel.basic_publish("amq.direct", key, b"stay", mandatory=True)
say("routed")
connection.close()

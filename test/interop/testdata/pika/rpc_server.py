"""Tutorial 6, RPC: the server. It answers until it is killed."""
import pika
from client import arguments, connect, say

connection = connect()
channel = connection.channel()
queue, = arguments
channel.queue_declare(queue)
channel.basic_qos(prefetch_count=1)


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def on_request(channel, method, properties, body):
    answer = pika.BasicProperties(correlation_id=properties.correlation_id)
    channel.basic_publish("", properties.reply_to, str(fib(int(body))).encode(), answer)
    channel.basic_ack(method.delivery_tag)


channel.basic_consume(queue, on_request)
say("ready")
channel.start_consuming()

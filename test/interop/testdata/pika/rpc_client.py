"""Tutorial 6, RPC: the client. Replies come to an exclusive queue, or with "direct" to the pseudo-queue of direct reply-to."""
import pika
from client import arguments, connect, say

connection = connect()
channel = connection.channel()
queue, mode = arguments
replies = "amq.rabbitmq.reply-to" if mode == "direct" else channel.queue_declare("", exclusive=True).method.queue
answers = {}


def on_reply(channel, method, properties, body):
    answers[properties.correlation_id] = body.decode()


channel.basic_consume(replies, on_reply, auto_ack=True)
for n in (10, 15, 20):
    channel.basic_publish("", queue, str(n).encode(), pika.BasicProperties(reply_to=replies, correlation_id=f"fib({n})"))
while len(answers) < 3:
    connection.process_data_events(time_limit=1)
for call, answer in answers.items():
    say(f"{call} = {answer}")
connection.close()

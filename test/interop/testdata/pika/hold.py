"""Consumers that keep what they get: QUEUE PREFETCH CONSUMERS manual|auto. Prints consumer, redelivered and body of each delivery."""
from client import arguments, connect, say

queue, prefetch, consumers, mode = arguments
connection = connect()


def printer(number):
    def callback(channel, method, properties, body):
        say(number, int(method.redelivered), body.decode())
    return callback


for number in range(int(consumers)):
    channel = connection.channel()
    channel.basic_qos(prefetch_count=int(prefetch))
    channel.basic_consume(queue, printer(number), auto_ack=mode == "auto")
say("ready")
channel.start_consuming()

"""Competing consumers on a queue with groups: QUEUE PREFETCH CONSUMERS NACKS, the last in percent. Prints each delivery and how it was settled:
monotonic time in ns, consumer, group, number in it, redelivered, ack or nack."""
import random
import time

from client import arguments, connect, say

queue, prefetch, consumers, nacks = arguments[0], *map(int, arguments[1:])
connection = connect()


def worker(number):
    def callback(channel, method, properties, body):
        began = time.monotonic_ns()
        time.sleep(0.001)  # the work
        nack = random.randrange(100) < nacks
        # The line is out before the broker knows: nobody else can have printed a later one of the group.
        say(began, number, body.decode(), int(method.redelivered), "nack" if nack else "ack")
        if nack:
            channel.basic_nack(method.delivery_tag)
        else:
            channel.basic_ack(method.delivery_tag)
    return callback


for number in range(consumers):
    channel = connection.channel()
    channel.basic_qos(prefetch_count=prefetch)
    channel.basic_consume(queue, worker(number))
say("ready")
channel.start_consuming()

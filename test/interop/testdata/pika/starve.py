"""A low priority behind one that never ends: QUEUE none|burst|aging NUMBER. Prints after how many others the low one was served."""
import time

import pika

from client import arguments, connect, say

queue, remedy, number = arguments
added = {"none": {}, "burst": {"x-priority-max-burst": int(number)}, "aging": {"x-priority-aging": int(number)}}[remedy]
connection = connect()
channel = connection.channel()
channel.queue_declare(queue, arguments={"x-max-priority": 9, **added})
channel.basic_qos(prefetch_count=1)
served = 0


def publish(body, priority):
    channel.basic_publish("", queue, body, pika.BasicProperties(priority=priority))


def serve(channel, method, properties, body):
    """Each one of high priority is followed by another before it is settled, so that there is always one."""
    global served
    if body == b"low":
        say("low after", served, "and", int(1000 * (time.monotonic() - began)), "ms")
        channel.stop_consuming()
    elif remedy == "none" and served == 300:
        say("starved")
        channel.stop_consuming()
    else:
        served += 1
        publish(b"high", 9)
    channel.basic_ack(method.delivery_tag)


began = time.monotonic()
publish(b"low", 1)
for _ in range(5):
    publish(b"high", 9)
channel.basic_consume(queue, serve)
channel.start_consuming()
connection.close()

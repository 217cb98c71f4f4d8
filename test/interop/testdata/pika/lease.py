"""A job that takes longer than the queue's timeout, with more time asked for meanwhile, and one without."""
import time

import pika

from client import arguments, connect, say

connection = connect()
channel = connection.channel()
queue, timeout = arguments[0], int(arguments[1])
channel.queue_declare(queue, arguments={"x-consumer-timeout": timeout})
jobs = []
channel.add_on_cancel_callback(lambda frame: say("cancelled", frame.method.consumer_tag))
channel.basic_consume(queue, lambda ch, method, properties, body: jobs.append(method), consumer_tag="worker")


def job(name):
    channel.basic_publish("", queue, name)
    while not jobs:
        connection.process_data_events(time_limit=None)
    return jobs.pop()


def work(seconds):
    """Pretends to work; pika answers the broker meanwhile."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        connection.process_data_events(time_limit=0.05)


method = job(b"extended")
for _ in range(6):
    work(timeout / 4000)
    channel.basic_publish("", "leveret.lease.%d" % method.delivery_tag, b"")
headers = pika.BasicProperties(headers={"x-lease": 2 * timeout})
channel.basic_publish("", "leveret.lease.%d" % method.delivery_tag, b"", headers)
work(1.5 * timeout / 1000)
channel.basic_ack(method.delivery_tag)
say("done", int(method.redelivered))

method = job(b"forgotten")
work(1.5 * timeout / 1000)
channel.basic_ack(method.delivery_tag)  # too late, and no error
got, _, body = channel.basic_get(queue, auto_ack=True)
say(body.decode(), int(got.redelivered))
connection.close()

"""Tutorial 2, work queue: of two workers with prefetch 1 the first never finishes, so the second does all the rest."""
import pika
from client import arguments, connect, say

connection = connect()
channel, busy, idle = (connection.channel() for _ in range(3))
queue, = arguments
channel.queue_declare(queue, durable=True)
done = []


def work(name, finish):
    def callback(channel, method, properties, body):
        done.append(f"{name} {body.decode()}")
        if finish:
            channel.basic_ack(method.delivery_tag)
    return callback


for worker, name, finish in ((busy, "busy", False), (idle, "idle", True)):
    worker.basic_qos(prefetch_count=1)
    worker.basic_consume(queue, work(name, finish))
for task in range(1, 6):
    channel.basic_publish("", queue, f"task {task}".encode(), pika.BasicProperties(delivery_mode=2))
while len(done) < 5:
    connection.process_data_events(time_limit=1)
say(*sorted(done), sep="\n")
connection.close()

"""Tutorial 3, publish/subscribe: a fanout exchange copies each message to every subscriber's own queue."""
from client import arguments, connect, say, take

connection = connect()
channel = connection.channel()
exchange, = arguments
channel.exchange_declare(exchange, "fanout", auto_delete=True)
queues = [channel.queue_declare("", exclusive=True).method.queue for _ in range(2)]
for queue in queues:
    channel.queue_bind(queue, exchange)
for body in ("first", "second"):
    channel.basic_publish(exchange, "ignored", body.encode())
for number, queue in enumerate(queues, 1):
    for _, _, body in take(channel, queue, 2):
        say(f"subscriber {number}: {body.decode()}")
connection.close()

"""Tutorial 4, routing: a direct exchange, one subscriber for errors alone and one for three severities."""
from client import arguments, connect, say, take

connection = connect()
channel = connection.channel()
exchange, = arguments
channel.exchange_declare(exchange, "direct", auto_delete=True)
disk = channel.queue_declare("", exclusive=True).method.queue
screen = channel.queue_declare("", exclusive=True).method.queue
channel.queue_bind(disk, exchange, "error")
for severity in ("info", "warning", "error"):
    channel.queue_bind(screen, exchange, severity)
for severity in ("info", "error", "debug", "warning"):
    channel.basic_publish(exchange, severity, f"{severity} message".encode())
for name, queue, count in (("disk", disk, 1), ("screen", screen, 3)):
    for method, _, body in take(channel, queue, count):
        say(f"{name}: {method.routing_key}: {body.decode()}")
connection.close()

"""Tutorial 5, topics: patterns with * and #; a queue that matches twice gets one copy."""
from client import arguments, connect, say, take

patterns = {"all": ["#"], "kern": ["kern.*"], "critical": ["*.critical"], "both": ["kern.*", "*.critical"]}
connection = connect()
channel = connection.channel()
exchange, = arguments
channel.exchange_declare(exchange, "topic", auto_delete=True)
queues = {}
for name, keys in patterns.items():
    queues[name] = channel.queue_declare("", exclusive=True).method.queue
    for key in keys:
        channel.queue_bind(queues[name], exchange, key)
for key in ("kern.critical", "kern.info", "cron.critical", "cron.info", "kern.critical.more"):
    channel.basic_publish(exchange, key, key.encode())
for name, count in (("all", 5), ("kern", 2), ("critical", 2), ("both", 3)):
    say(f"{name}:", *(body.decode() for _, _, body in take(channel, queues[name], count)))
connection.close()

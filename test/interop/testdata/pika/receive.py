"""Tutorial 1, hello: receives one message and prints it with its properties."""
import json
from client import arguments, connect, say, take

connection = connect()
channel = connection.channel()
queue, = arguments
channel.queue_declare(queue)
(_, p, body), = take(channel, queue, 1)
say(body.decode())
say(p.content_type, p.delivery_mode, p.priority, p.correlation_id, p.message_id, p.timestamp, p.type)
say(json.dumps(p.headers, sort_keys=True, separators=(",", ":"), ensure_ascii=False))
connection.close()

# What a service does in a day: confirms, returns, consuming in order, headers of every type, a refusal, a transaction, an RPC.
require 'bunny'
$stdout.sync = true
COUNT = 1000
QUEUE = ARGV[1]
HEADERS = { 'flag' => true, 'list' => [1, 2, 3], 'none' => nil, 'number' => 2**40, 'real' => 1.5, 'table' => { 'k' => 7 }, 'text' => 'é', 'when' => Time.at(1_700_000_000) }.freeze

connection = Bunny.new(ARGV[0], automatically_recover: false).start
channel = connection.create_channel
queue = channel.queue(QUEUE, durable: true, arguments: { 'x-max-length' => 100_000, 'x-dead-letter-exchange' => 'amq.fanout' })
direct = channel.default_exchange
direct.on_return { |info, _, _| puts "returned #{info.reply_code} #{info.reply_text}" }
channel.confirm_select
COUNT.times { |i| direct.publish(i.to_s, routing_key: QUEUE, persistent: true, headers: HEADERS) }
direct.publish('', routing_key: 'nobody', mandatory: true)
channel.wait_for_confirms or abort 'a publish was refused'
puts "confirmed #{queue.message_count}"

reader = connection.create_channel
reader.prefetch(100)
finished = Queue.new
expected = 0
reader.queue(QUEUE, passive: true).subscribe(manual_ack: true) do |delivery, properties, body|
  finished << "out of order: #{body}" unless body == expected.to_s
  expected += 1
  reader.ack(delivery.delivery_tag)
  got = properties.headers.sort.map { |k, v| "#{k}=#{v.is_a?(Hash) ? "{k=#{v['k']}}" : v.is_a?(Time) ? v.to_i : v.nil? ? 'null' : v}" }
  finished << "consumed #{expected} in order, with {#{got.join(', ')}}" if expected == COUNT
end
puts finished.pop
reader.close

begin
  connection.create_channel.queue_declare(QUEUE, durable: false)
rescue Bunny::PreconditionFailed => refusal
  puts "#{refusal.channel_close.reply_code} #{refusal.channel_close.reply_text}"
end

transaction = connection.create_channel
transaction.tx_select
transaction.default_exchange.publish('', routing_key: QUEUE)
transaction.tx_rollback
transaction.default_exchange.publish('', routing_key: QUEUE)
transaction.tx_commit
puts "committed #{transaction.queue_purge(QUEUE).message_count}"

server = connection.create_channel
requests = server.queue('', exclusive: true)
requests.subscribe { |_, properties, body| server.default_exchange.publish(body.reverse, routing_key: properties.reply_to) }
answers = Queue.new
client = connection.create_channel
client.basic_consume_with(Bunny::Consumer.new(client, 'amq.rabbitmq.reply-to', 'answers', true).on_delivery { |_, _, body| answers << body })
client.default_exchange.publish('abc', routing_key: requests.name, reply_to: 'amq.rabbitmq.reply-to')
puts "called #{answers.pop}"
channel.queue_delete(QUEUE)
connection.close

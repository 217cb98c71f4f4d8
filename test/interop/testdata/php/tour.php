<?php
// What a service does in a day: confirms, returns, consuming in order, headers of every type, a refusal, a transaction, an RPC.
require 'PhpAmqpLib/autoload.php';
use PhpAmqpLib\Connection\AMQPStreamConnection;
use PhpAmqpLib\Exception\AMQPProtocolChannelException;
use PhpAmqpLib\Message\AMQPMessage;
use PhpAmqpLib\Wire\AMQPTable;

const COUNT = 1000;
define('QUEUE', $argv[2]);
const WAIT = 60; // seconds

/** The text of a header's value. */
function text($value): string
{
    if (is_array($value) && !array_is_list($value)) {
        ksort($value);
        return '{' . implode(', ', array_map(fn($key) => "$key=" . text($value[$key]), array_keys($value))) . '}';
    }
    return match (true) {
        is_null($value) => 'null',
        is_bool($value) => $value ? 'true' : 'false',
        is_array($value) => '[' . implode(', ', array_map('text', $value)) . ']',
        $value instanceof DateTime => (string) $value->getTimestamp(),
        default => (string) $value,
    };
}

$url = parse_url($argv[1]);
$connection = new AMQPStreamConnection($url['host'], $url['port'], $url['user'], $url['pass'], '/');
$channel = $connection->channel();
$channel->queue_declare(QUEUE, false, true, false, false, false, new AMQPTable(['x-max-length' => 100000, 'x-dead-letter-exchange' => 'amq.fanout']));
$channel->set_return_listener(function ($code, $reason) {
    echo "returned $code $reason\n";
});
$channel->confirm_select();
$headers = new AMQPTable(['flag' => true, 'list' => [1, 2, 3], 'none' => null, 'number' => 1 << 40, 'real' => 1.5, 'table' => ['k' => 7], 'text' => 'é',
    'when' => new DateTime('@1700000000')]);
for ($i = 0; $i < COUNT; $i++) {
    $channel->basic_publish(new AMQPMessage((string) $i, ['delivery_mode' => AMQPMessage::DELIVERY_MODE_PERSISTENT, 'application_headers' => $headers]), '', QUEUE);
}
$channel->basic_publish(new AMQPMessage(''), '', 'nobody', true);
$channel->wait_for_pending_acks_returns(WAIT);
echo 'confirmed ', $channel->queue_declare(QUEUE, true)[1], "\n";

$reader = $connection->channel();
$reader->basic_qos(0, 100, false);
$next = 0;
$got = null;
$reader->basic_consume(QUEUE, '', false, false, false, false, function (AMQPMessage $message) use (&$next, &$got) {
    if ($message->body !== (string) $next++) {
        exit("out of order: $message->body\n");
    }
    $message->ack();
    $got = $message->get('application_headers')->getNativeData();
});
while ($next < COUNT) {
    $reader->wait(null, false, WAIT);
}
echo "consumed $next in order, with ", text($got), "\n";
$reader->close();

try {
    $connection->channel()->queue_declare(QUEUE, false, false, false, false);
} catch (AMQPProtocolChannelException $refusal) {
    echo $refusal->amqp_reply_code, ' ', $refusal->amqp_reply_text, "\n";
}

$transaction = $connection->channel();
$transaction->tx_select();
$transaction->basic_publish(new AMQPMessage(''), '', QUEUE);
$transaction->tx_rollback();
$transaction->basic_publish(new AMQPMessage(''), '', QUEUE);
$transaction->tx_commit();
echo 'committed ', $transaction->queue_purge(QUEUE), "\n";

$server = $connection->channel();
[$requests] = $server->queue_declare('', false, false, true);
$server->basic_consume($requests, '', false, true, false, false, function (AMQPMessage $message) use ($server) {
    $server->basic_publish(new AMQPMessage(strrev($message->body)), '', $message->get('reply_to'));
});
$client = $connection->channel();
$answer = null;
$client->basic_consume('amq.rabbitmq.reply-to', '', false, true, false, false, function (AMQPMessage $message) use (&$answer) {
    $answer = $message->body;
});
$client->basic_publish(new AMQPMessage('abc', ['reply_to' => 'amq.rabbitmq.reply-to']), '', $requests);
$server->wait(null, false, WAIT);
while ($answer === null) {
    $client->wait(null, false, WAIT);
}
echo "called $answer\n";
$channel->queue_delete(QUEUE);
$connection->close();

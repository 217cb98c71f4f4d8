'use strict';
// Tutorial 6, RPC: the client. Replies come to an exclusive queue, or with "direct" to the pseudo-queue of direct reply-to.
const { connect, deferred, main, say } = require('./client');

main(async (queue, mode) => {
  const connection = await connect();
  const channel = await connection.createChannel();
  const replyTo = mode === 'direct' ? 'amq.rabbitmq.reply-to' : (await channel.assertQueue('', { exclusive: true })).queue;
  const answers = [];
  const all = deferred();
  await channel.consume(replyTo, (message) => {
    if (answers.push(`${message.properties.correlationId} = ${message.content}`) === 3) all.resolve();
  }, { noAck: true });
  for (const n of [10, 15, 20]) channel.sendToQueue(queue, Buffer.from(String(n)), { replyTo, correlationId: `fib(${n})` });
  await all.promise;
  say(answers.join('\n'));
  await connection.close();
});

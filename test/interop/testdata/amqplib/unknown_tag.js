'use strict';
// An ack of an unknown tag closes its channel and no other.
const { connect, deferred, main, say } = require('./client');

main(async (queue) => {
  const connection = await connect();
  const [channel, other] = [await connection.createChannel(), await connection.createChannel()];
  await other.assertQueue(queue, { durable: false });
  const closed = deferred();
  channel.on('error', closed.resolve);
  channel.ack({ fields: { deliveryTag: 99 } });
  const error = await closed.promise;
  say(error.code, /"(.*)"/.exec(error.message)[1]);
  other.sendToQueue(queue, Buffer.from('still open'));
  say((await other.get(queue, { noAck: true })).content.toString());
  await connection.close();
});

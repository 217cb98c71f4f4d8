'use strict';
// What the amqplib programs share: a connection to the URL in the first argument, and lines of output.
const amqplib = require('amqplib');

const [, , url, ...args] = process.argv;

/** Opens a connection; parameters are added to the URL's query. */
function connect(parameters = {}, socketOptions = {}) {
  const wanted = new URL(url);
  for (const [name, value] of Object.entries(parameters)) wanted.searchParams.set(name, value);
  return amqplib.connect(wanted.toString(), socketOptions);
}

/** Consumes that many messages, acknowledged as they come, and stops. */
async function take(channel, queue, count) {
  const messages = [];
  const { promise, resolve } = deferred();
  const { consumerTag } = await channel.consume(queue, (message) => {
    if (messages.push(message) === count) resolve();
  }, { noAck: true });
  await promise;
  await channel.cancel(consumerTag);
  return messages;
}

/** A promise and the function that fulfils it. */
function deferred() {
  let resolve;
  const promise = new Promise((fulfil) => { resolve = fulfil; });
  return { promise, resolve };
}

/** Runs a program; whatever it throws ends the process with status 1. */
function main(program) {
  program(...args).catch((error) => {
    console.error(error);
    process.exit(1);
  });
}

module.exports = { connect, take, deferred, main, say: console.log };

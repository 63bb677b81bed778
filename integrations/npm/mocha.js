'use strict';
const { Report, failureOf } = require('./lib/report');

// mocha --reporter @flakeboard/reporters/mocha --reporter-option outputFile=report.xml
module.exports = class MochaReporter {
  constructor(runner, options) {
    this.report = new Report('mocha', (options && options.reporterOptions) || {});
    this.started = new Map();
    this.earlier = new Map();
    // Parallel workers hand over their events when a file has ended: neither order nor start can be told.
    this.report.isSerial = !(runner.isParallelMode && runner.isParallelMode());
    runner.on('test', (test) => this.started.set(this.key(test), Date.now()));
    runner.on('retry', (test, error) => this.retried(test, error));
    runner.on('pass', (test) => this.add(test, 'passed'));
    runner.on('pending', (test) => this.add(test, 'skipped'));
    runner.on('fail', (test, error) => {
      if (test.type === 'hook') this.report.addError(test.file || (test.parent && test.parent.file), error);
      else this.add(test, 'failed', error);
    });
    runner.once('end', () => {
      this.report.write();
      const failed = this.report.tests.filter((test) => test.attempts[test.attempts.length - 1].outcome === 'failed').length;
      process.stdout.write(`${this.report.tests.length} tests, ${failed} failed: ${this.report.path}\n`);
    });
  }

  key(test) {
    return JSON.stringify([test.file, test.titlePath()]);
  }

  retried(test, error) {
    const key = this.key(test);
    const attempt = { outcome: 'failed', milliseconds: test.duration, failures: [failureOf(error)] };
    this.earlier.set(key, [...(this.earlier.get(key) || []), attempt]);
  }

  add(test, outcome, error) {
    const key = this.key(test);
    const milliseconds = outcome === 'skipped' ? undefined : test.duration;
    this.report.add({
      file: test.file,
      titles: test.titlePath(),
      started: outcome === 'skipped' ? undefined : this.started.get(key),
      attempts: [...(this.earlier.get(key) || []), { outcome, milliseconds, failures: error ? [failureOf(error)] : [] }],
    });
    this.earlier.delete(key);
  }
};

'use strict';
const { Report, failureOf } = require('./lib/report');

// vitest run --reporter=default --reporter=@flakeboard/reporters/vitest --includeTaskLocation
module.exports = class VitestReporter {
  constructor(options) {
    this.options = options;
    this.isWritten = false;
  }

  // Vitest 1 and 2 call the first, later ones the second; 3 calls both.
  onFinished(files, errors) {
    this.finish(files || [], errors || []);
  }

  onTestRunEnd(modules, errors) {
    this.finish(modules.map((module) => module.task), errors || []);
  }

  finish(files, errors) {
    if (this.isWritten) return;
    this.isWritten = true;
    this.report = new Report('vitest', this.options);
    for (const file of files) {
      const failed = (file.result && file.result.errors) || [];
      if (failed.length) this.report.addError(file.filepath, failed[0]);
      for (const task of file.tasks) this.add(file, task, []);
    }
    for (const error of errors) this.report.addError('', error);
    this.report.write();
  }

  add(file, task, titles) {
    const here = [...titles, task.name];
    if (task.tasks) {
      if (task.result && task.result.errors && task.result.errors.length) this.report.addError(file.filepath, task.result.errors[0]);
      for (const child of task.tasks) this.add(file, child, here);
      return;
    }
    const result = task.result || {};
    const outcome = result.state === 'pass' ? 'passed' : result.state === 'fail' ? 'failed' : 'skipped';
    this.report.add({
      file: file.filepath,
      titles: here,
      line: task.location ? task.location.line : undefined,
      started: result.startTime,
      attempts: this.attempts(result, outcome),
    });
  }

  // Vitest counts retries and collects their errors. It times all attempts together, so of a retried test no time is written.
  attempts(result, outcome) {
    const failures = (result.errors || []).map(failureOf);
    const retries = result.retryCount || 0;
    const last = { outcome, milliseconds: retries || outcome === 'skipped' ? undefined : result.duration };
    if (!retries) return [{ ...last, failures }];
    const earlier = Array.from({ length: retries }, (_, number) => ({
      outcome: 'failed',
      failures: [failures[Math.min(number, failures.length - 1)] || failureOf('failed, and was retried')],
    }));
    return [...earlier, { ...last, failures: outcome === 'failed' ? failures.slice(-1) : [] }];
  }
};

'use strict';
const { Report, failureOf } = require('./lib/report');

// npx playwright test --reporter=@flakeboard/reporters/playwright
module.exports = class PlaywrightReporter {
  constructor(options) {
    this.report = new Report('playwright', options);
  }

  onBegin(config, suite) {
    this.suite = suite;
    this.projects = config.projects.length;
  }

  onError(error) {
    this.report.addError(error.location ? error.location.file : '', error);
  }

  onEnd() {
    const tests = this.suite ? this.suite.allTests().filter((test) => test.results.length) : [];
    // Its durations leave out time spent in fixtures, so that tests of two workers may not seem to overlap.
    const slots = tests.flatMap((test) => test.results.map((result) => result.parallelIndex)).filter((slot) => slot >= 0);
    this.report.isSerial = new Set(slots).size <= 1;
    for (const test of tests) this.add(test);
    this.report.write();
  }

  add(test) {
    const [, project, , ...titles] = test.titlePath();
    this.report.add({
      file: test.location.file,
      project: this.projects > 1 ? project : '',
      titles,
      line: test.location.line,
      started: test.results[test.results.length - 1].startTime.getTime(),
      attempts: test.results.map((result) => this.attempt(test, result)),
    });
  }

  // A test that is expected to fail passes by failing.
  attempt(test, result) {
    if (result.status === 'skipped') return { outcome: 'skipped' };
    const outcome = result.status === test.expectedStatus ? 'passed' : 'failed';
    const texts = result.errors.length ? result.errors : [`${result.status}, and ${test.expectedStatus} was expected`];
    const attachments = result.attachments.map((attachment) => attachment.path).filter(Boolean);
    return { outcome, milliseconds: result.duration, failures: outcome === 'failed' ? texts.map(failureOf) : [], attachments };
  }

  printsToStdio() {
    return false;
  }
};

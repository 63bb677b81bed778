'use strict';
const { Report, failureOf } = require('./lib/report');

const OUTCOMES = { passed: 'passed', failed: 'failed' };

// jest --reporters=default --reporters=@flakeboard/reporters/jest --testLocationInResults
module.exports = class JestReporter {
  constructor(globalConfig, options) {
    this.report = new Report('jest', options);
  }

  onRunComplete(contexts, results) {
    for (const file of results.testResults) {
      if (file.testExecError || (file.failureMessage && !file.testResults.length)) {
        this.report.addError(file.testFilePath, file.testExecError || file.failureMessage);
      }
      for (const test of file.testResults) this.add(file, test);
    }
    this.report.write();
  }

  add(file, test) {
    const outcome = OUTCOMES[test.status] || 'skipped';
    const failures = (test.failureMessages || []).map(failureOf);
    const earlier = this.earlier(test);
    this.report.add({
      file: file.testFilePath,
      titles: [...test.ancestorTitles, test.title],
      line: test.location ? test.location.line : undefined,
      started: test.startAt || undefined,
      attempts: [...earlier, { outcome, failures, milliseconds: outcome === 'skipped' ? undefined : test.duration }],
    });
  }

  // Jest counts invocations, and keeps the errors of the earlier ones only with logErrorsBeforeRetry.
  earlier(test) {
    const reasons = test.retryReasons || [];
    const length = Math.max((test.invocations || 1) - 1, 0);
    return Array.from({ length }, (_, number) => ({
      outcome: 'failed',
      failures: [failureOf(reasons[number] || 'failed; jest.retryTimes(n, {logErrorsBeforeRetry: true}) keeps its error')],
    }));
  }
};

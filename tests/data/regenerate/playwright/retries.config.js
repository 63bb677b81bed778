const base = require('./playwright.config.js');

module.exports = {
  ...base,
  retries: 2,
  reporter: [
    ['junit', { outputFile: 'report.xml' }],
    ['junit', { outputFile: 'report-included.xml', includeRetries: true }],
    ['junit', { outputFile: 'report-project.xml', includeProjectInTestName: true }],
  ],
};

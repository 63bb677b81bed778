module.exports = {
  workers: 2,
  projects: [{ name: 'alpha' }, { name: 'beta' }],
  reporter: [['junit', { outputFile: 'report.xml' }]],
};

export default { test: { testTimeout: 2000, pool: 'forks' } };

// flakeboard(url: 'https://flakeboard.example', project: 'my-project', command: 'pytest')
//
// Runs the command under Flakeboard. Further options: report (patterns, a list or one), retries, environment, sha256, and
// credentials, the id of a "secret text" with the token (flakeboard-token).
def call(Map options) {
  for (String name : ['url', 'project', 'command']) {
    if (!options[name]) {
      error("flakeboard: give ${name}")
    }
  }
  List<String> variables = [
    "FLAKEBOARD_URL=${options.url}",
    "FLAKEBOARD_PROJECT=${options.project}",
    "FLAKEBOARD_COMMAND=${options.command}",
    "FLAKEBOARD_REPORT=${[options.report ?: []].flatten().join('\n')}",
    "FLAKEBOARD_RETRIES=${options.retries ?: ''}",
    "FLAKEBOARD_ENVIRONMENT=${options.environment ?: ''}",
    "FLAKEBOARD_SHA256=${options.sha256 ?: ''}",
  ]
  writeFile(file: '.flakeboard.sh', text: libraryResource('flakeboard.sh'))
  withCredentials([string(credentialsId: options.credentials ?: 'flakeboard-token', variable: 'FLAKEBOARD_TOKEN')]) {
    withEnv(variables) {
      sh('sh .flakeboard.sh')
    }
  }
}

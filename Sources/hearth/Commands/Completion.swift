import ArgumentParser
import HearthHome

/// `hearth completion`.
struct Completion: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "completion", abstract: "Print the completion script for a shell.",
    discussion: "For example: hearth completion bash > ~/.local/share/bash-completion/completions/hearth")
  @OptionGroup var options: GlobalOptions
  @Argument(help: "bash, zsh or fish.", completion: .list(CompletionShell.allCases.map(\.rawValue))) var shell: String

  func run() throws {
    guard let known = CompletionShell.allCases.first(where: { $0.rawValue == shell }) else {
      throw HomeError(
        .badArguments,
        "no completion for “\(shell)”; expected \(CompletionShell.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    let script = Hearth.completionScript(for: known)
    options.output.result(["shell": .string(shell), "script": .string(script)], script)
  }
}

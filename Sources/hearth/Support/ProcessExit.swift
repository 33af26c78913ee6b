import ArgumentParser
import HearthHome

/// The documented exit codes.
enum ProcessExit: Int32, CaseIterable {
  case success = 0, internalError = 1, badArguments = 2, notFound = 3, ambiguousTarget = 4, unreachable = 5
  case timedOut = 6, accessDenied = 7, refused = 8, commissioningFailed = 9, partlyFailed = 10
  case expectationFailed = 11, badDefinition = 12, notRunning = 13, interrupted = 130

  init(_ code: HomeError.Code) {
    self =
      switch code {
      case .internalError: .internalError
      case .badArguments: .badArguments
      case .notFound: .notFound
      case .ambiguousTarget: .ambiguousTarget
      case .unreachable: .unreachable
      case .timedOut: .timedOut
      case .accessDenied: .accessDenied
      case .refused: .refused
      case .commissioningFailed: .commissioningFailed
      case .partlyFailed: .partlyFailed
      case .expectationFailed: .expectationFailed
      case .badDefinition: .badDefinition
      case .notRunning: .notRunning
      case .interrupted: .interrupted
      }
  }

  /// The error to throw after all output has been printed.
  var error: ExitCode { ExitCode(rawValue) }
}

internal import Foundation
internal import Glibc
internal import Runtime
internal import Synchronization

/// A command that a delivery wakes: asked to end, made to where it does not, and answered for once.
final class RunningCommand: Sendable {
  /// So long a command that is to end has for it, and so long one that was made to is waited for: what it started may hold on to
  /// what tells that it is gone.
  static let lastWords = Duration.seconds(3)

  private enum Life {
    case starting
    case running(Int32)
    /// It was to end before it had begun.
    case unwanted
    case ending(Int32)
    /// Its number may be another's by now.
    case gone
  }

  private struct State {
    var life = Life.starting
    var answer: CheckedContinuation<String?, Never>?
  }

  private let name: String
  private let state = Mutex(State())

  init(named name: String) { self.name = name }

  /// - Parameter answer: gets nil when it completed, else what went wrong.
  func begin(_ answer: CheckedContinuation<String?, Never>) { state.withLock { $0.answer = answer } }

  func started(_ number: Int32) {
    let isUnwanted = state.withLock { state in
      switch state.life {
      case .starting: state.life = .running(number)
      case .unwanted:
        state.life = .running(number)
        return true
      default: break
      }
      return false
    }
    if isUnwanted { end() }
  }

  func ended(_ process: Process) {
    state.withLock { $0.life = .gone }
    let status = process.terminationStatus
    switch process.terminationReason {
    case .exit where status == 0: answer(nil)
    case .exit: answer("“\(name)” ended with \(status)")
    default: answer("“\(name)” was ended by signal \(status)")
    }
  }

  /// Only the first one counts.
  func answer(_ failure: String?) { state.withLock { $0.answer.take() }?.resume(returning: failure) }

  /// It is wanted no more.
  func end() {
    let isAsked = state.withLock { state in
      switch state.life {
      case .starting: state.life = .unwanted
      case .running(let number):
        state.life = .ending(number)
        kill(number, SIGTERM)
        return true
      default: break
      }
      return false
    }
    guard isAsked else { return }
    Tasks.start {
      try? await Task.sleep(for: Self.lastWords)
      self.state.withLock { if case .ending(let number) = $0.life { kill(number, SIGKILL) } }
      try? await Task.sleep(for: Self.lastWords)
      self.answer("“\(self.name)” was ended")
    }
  }
}

internal import MatterModel

extension ClosureControl {
  /// Returns the position of a closure and its latch: "partially opened", "fully closed, latched".
  package static func words(_ state: OverallCurrentStateStruct) -> String {
    let position = state.position?.wrapped.map { $0.isKnown ? $0.words : "position \($0.rawValue)" } ?? "unknown"
    return position + (state.latch?.wrapped == true ? ", latched" : "")
  }

  /// Returns the state of a closure that does not rest, with its errors: "moving", "error: physically blocked".
  package static func words(_ state: MainState, _ errors: [ClosureError]) -> String? {
    guard state != .stopped else { return nil }
    let name = state.isKnown ? state.words : "state \(state.rawValue)"
    let reasons = errors.map { $0.isKnown ? $0.words : "error \($0.rawValue)" }
    return state == .error && !reasons.isEmpty ? "\(name): \(reasons.joined(separator: ", "))" : name
  }
}

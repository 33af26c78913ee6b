internal import MatterModel

extension OperationalState {
  /// Returns the state of an appliance, with the phase of its run: "running, Rinsing".
  /// - Parameters:
  ///   - state: the value of OperationalState of a cluster that derives from Operational State Base.
  ///   - phases: the value of PhaseList.
  ///   - phase: the value of CurrentPhase; nil: none.
  package static func words(_ state: UInt8, _ phases: [String], _ phase: UInt8?) -> String {
    let code = RvcOperationalState.OperationalState(state)
    let name = code.isKnown ? code.words : "state \(state)"
    guard code == .running || code == .paused, let phase, phases.indices.contains(Int(phase)) else { return name }
    return "\(name), \(phases[Int(phase)])"
  }
}

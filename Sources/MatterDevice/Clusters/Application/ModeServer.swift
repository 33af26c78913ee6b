internal import MatterClusters
internal import MatterModel

/// An entry of SupportedModes of a cluster derived from Mode Base. Application Clusters § 1.10.
public struct ApplianceMode: Hashable, Sendable {
  /// The name, unique within the list.
  public var label: String
  /// The mode tags, at least one.
  public var tags: [UInt16]
  /// The time that a run takes in this mode, in percent.
  public var pace: Int

  public init(_ label: String, _ tags: [UInt16], pace: Int = 100) {
    (self.label, self.tags, self.pace) = (label, tags, pace)
  }
}

/// The elements of the clusters that derive from Mode Base. Their structures have the same encoding in each of them.
/// Application Clusters § 1.10.
enum ModeBase<C: Cluster> {
  typealias Response = RvcRunMode.ChangeToModeResponse

  static var supportedModes: Attribute<C, [RvcRunMode.ModeOptionStruct]> { .init(0x0000, "SupportedModes") }
  static var currentMode: Attribute<C, UInt8> { .init(0x0001, "CurrentMode") }
  static var changeToMode: Command<C, RvcRunMode.ChangeToModeRequest, Response> {
    .init(0x00, "ChangeToMode", response: 0x01)
  }
}

/// A server for a cluster that derives from Mode Base. The number of a mode is its index. Application Clusters § 1.10.
struct ModeServer<C: Cluster>: Sendable {
  /// The status codes that all derived clusters have. § 1.10.7.2.
  enum Code {
    static var success: UInt8 { 0 }
    static var unsupportedMode: UInt8 { 1 }
    static var invalidInMode: UInt8 { 3 }
  }

  /// Why a mode can't be selected: a status code and its text.
  typealias Refusal = (status: UInt8, text: String)

  var modes: [ApplianceMode]
  /// Whether the mode survives a restart.
  var isStored = true
  /// Prepares the appliance for another mode; returns a refusal if the mode can't change now.
  var change: @Sendable (_ context: inout ServerContext, _ from: UInt8, _ to: UInt8) -> Refusal? = { _, _, _ in
    nil
  }

  init(_ cluster: C.Type, _ modes: [ApplianceMode]) { self.modes = modes }

  func make() -> ClusterServer {
    let options = modes.enumerated().map { index, mode in
      RvcRunMode.ModeOptionStruct(
        label: mode.label, mode: UInt8(clamping: index), modeTags: mode.tags.map { .init(value: $0) })
    }
    var server = ClusterServer(C.self).initial(ModeBase<C>.supportedModes, options)
      .onStart { context in
        // A changed definition may have fewer modes than the last run.
        if !isStored || !modes.indices.contains(Int(context[ModeBase<C>.currentMode])) {
          context[ModeBase<C>.currentMode] = 0
        }
      }
      .limiting(ModeBase<C>.currentMode, to: 0...Int64(max(modes.count, 1) - 1))
      .onAct(ModeBase<C>.currentMode) { context, mode throws(StatusError) in
        guard modes.indices.contains(Int(mode)) else { throw StatusError(.constraintError) }
        guard select(mode, &context) == nil else { throw StatusError(.invalidInState) }
      }
    if !isStored { server = server.resetting(ModeBase<C>.currentMode) }
    guard C.commands.contains(where: { $0.id == ModeBase<C>.changeToMode.id }) else { return server }
    return server.answer(ModeBase<C>.changeToMode) { context, request throws(StatusError) in
      guard modes.indices.contains(Int(request.newMode)) else {
        return .init(status: Code.unsupportedMode, statusText: "")
      }
      let refusal = select(request.newMode, &context)
      return .init(status: refusal?.status ?? Code.success, statusText: refusal?.text ?? "")
    }
  }

  private func select(_ mode: UInt8, _ context: inout ServerContext) -> Refusal? {
    let current = context[ModeBase<C>.currentMode]
    guard mode != current else { return nil }
    if let refusal = change(&context, current, mode) { return refusal }
    context[ModeBase<C>.currentMode] = mode
    return nil
  }
}

extension ServerContext {
  /// Returns the current mode of a cluster that derives from Mode Base; nil if it is not served.
  mutating func mode<C: Cluster>(_: C.Type, of modes: [ApplianceMode]) -> ApplianceMode? {
    guard let index = value(ModeBase<C>.currentMode), modes.indices.contains(Int(index)) else { return nil }
    return modes[Int(index)]
  }
}

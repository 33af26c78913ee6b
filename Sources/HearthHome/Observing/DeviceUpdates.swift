internal import Runtime

/// The current state of a part of a device, and its state after each report that changes it. See ``HomeUpdates`` for
/// slow observers.
public struct DeviceUpdates<Element: Sendable>: HomeUpdates {
  package let home: any HomeAccess
  package let device: String
  /// The part; nil ends the sequence.
  package let select: @Sendable (HomeDevice) -> Element?
  /// Whether the part changed, given the clusters that changed.
  let hasChanged: @Sendable (_ old: Element, _ new: Element, _ changed: Set<ClusterPath>) -> Bool

  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(updates: self, reports: home.reports(of: device).makeAsyncIterator())
  }

  public struct AsyncIterator: AsyncIteratorProtocol {
    package let updates: DeviceUpdates
    /// Nil after the end of the sequence.
    package var reports: DeviceReports.AsyncIterator?
    package var last: Element?

    public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> Element? {
      let wait = PendingWork.begin("\(reports?.name ?? "a device") to report a change of its \(Self.subject)")
      defer { wait?.end() }
      while let report = await reports?.next(isolation: actor), let element = updates.select(report.device) {
        if let last, !updates.hasChanged(last, element, report.changed) { continue }
        last = element
        return element
      }
      reports = nil
      return nil
    }

    /// The name of the observed value, for the list of pending work.
    private static var subject: String {
      (Element.self as? any HomeDeviceType.Type)?.deviceType.name ?? "\(Element.self)"
    }
  }
}

/// The current state of a device, and its state after each update that affects it.
///
/// Can be iterated once. A retained sequence retains all elements since its creation.
package struct DeviceReports: AsyncSequence, Sendable {
  package typealias Slot = Broadcast<DeviceReport>.Slot

  package let first: Slot
  /// Ends the observation with its last reference.
  package let reading: Reading
  /// The access that the delivered devices use; nil: that of the home.
  package var access: (any HomeAccess)?

  package init(first: Slot, reading: Reading) { (self.first, self.reading) = (first, reading) }

  /// The reports of a missing device: ends at once.
  package static var none: DeviceReports {
    let slot = Slot()
    slot.fill(.end)
    return DeviceReports(first: slot, reading: Reading {})
  }

  /// Returns an iterator that begins with the current state.
  package func makeAsyncIterator() -> AsyncIterator { AsyncIterator(next: first, reading: reading, access: access) }

  package struct AsyncIterator: AsyncIteratorProtocol {
    /// Nil: it has ended.
    package var next: Slot?
    package let reading: Reading
    package let access: (any HomeAccess)?
    /// The last name of the device.
    package private(set) var name = "a device"

    package mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> DeviceReport? {
      guard case .element(let report, let following)? = await next?.content() else {
        next = nil
        return nil
      }
      (next, name) = (following, report.device.name)
      guard let access else { return report }
      return DeviceReport(device: report.device.asked(through: access), changed: report.changed)
    }
  }

  /// Identifies a reader. Its first place would retain all later elements.
  package final class Reader: Sendable {
    package init() {}
  }

  /// Retained by the sequence and its iterators.
  package final class Reading: Sendable {
    private let onEnd: @Sendable () -> Void
    package init(onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }
    deinit { onEnd() }
  }
}

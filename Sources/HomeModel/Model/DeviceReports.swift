internal import Runtime

/// The current state of a device, and its state after each update that affects it.
///
/// Can be iterated once. A retained sequence retains all elements since its creation.
public struct DeviceReports: AsyncSequence, Sendable {
  package typealias Place = Broadcast<DeviceReport>.Place

  package let first: Place
  /// Ends the reading when nobody reads any more.
  package let reading: Reading
  /// As whom the device is asked for things.
  package var access: (any HomeAccess)?

  package init(first: Place, reading: Reading) { (self.first, self.reading) = (first, reading) }

  /// Of a device that is not there: ends at once.
  package static var none: DeviceReports {
    let place = Place()
    place.fill(.end)
    return DeviceReports(first: place, reading: Reading {})
  }

  /// Returns an iterator that begins with the current state.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(next: first, reading: reading, access: access) }

  public struct AsyncIterator: AsyncIteratorProtocol {
    /// Nil: it has ended.
    package var next: Place?
    package let reading: Reading
    package let access: (any HomeAccess)?
    /// How the home called the device last.
    package private(set) var name = "a device"

    package init(next: Place, reading: Reading, access: (any HomeAccess)?) {
      (self.next, self.reading, self.access) = (next, reading, access)
    }

    public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> DeviceReport? {
      let wait = PendingWork.begin("\(name) to report a change")
      defer { wait?.end() }
      return await report(isolation: actor)
    }

    /// The next one, for those who say themselves what they wait for.
    package mutating func report(isolation actor: isolated (any Actor)?) async -> DeviceReport? {
      guard case .element(let report, let following)? = await next?.content() else {
        next = nil
        return nil
      }
      (next, name) = (following, report.device.name)
      guard let access else { return report }
      return DeviceReport(device: report.device.asked(through: access), changed: report.changed)
    }
  }

  /// Who reads; not the place where it began, which would keep all that came since.
  package final class Reader: Sendable {
    package init() {}
  }

  /// Lives as long as anybody reads.
  package final class Reading: Sendable {
    private let onEnd: @Sendable () -> Void
    package init(onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }
    deinit { onEnd() }
  }
}

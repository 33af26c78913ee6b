/// What happens to one device, as it is then: now, and after each update that is about it.
///
/// To be gone through once. Whoever keeps it keeps all that came since.
public struct DeviceReports: AsyncSequence, Sendable {
  typealias Place = Broadcast<DeviceReport>.Place

  let first: Place
  /// Ends the reading when nobody reads any more.
  let reading: Reading
  /// As whom the device is asked for things.
  var access: (any HomeAccess)?

  init(first: Place, reading: Reading) { (self.first, self.reading) = (first, reading) }

  /// Of a device that is not there: ends at once.
  package static var none: DeviceReports {
    let place = Place()
    place.fill(.end)
    return DeviceReports(first: place, reading: Reading {})
  }

  /// The reports from now on, the device as it is now first.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(next: first, reading: reading, access: access) }

  public struct AsyncIterator: AsyncIteratorProtocol {
    /// Nil: it has ended.
    var next: Place?
    let reading: Reading
    let access: (any HomeAccess)?

    public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> DeviceReport? {
      guard case .element(let report, let following)? = await next?.content() else {
        next = nil
        return nil
      }
      next = following
      guard let access else { return report }
      return DeviceReport(device: report.device.asked(through: access), changed: report.changed)
    }
  }

  /// Who reads; not the place where it began, which would keep all that came since.
  final class Reader: Sendable {}

  /// Lives as long as anybody reads.
  final class Reading: Sendable {
    private let onEnd: @Sendable () -> Void
    init(onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }
    deinit { onEnd() }
  }
}

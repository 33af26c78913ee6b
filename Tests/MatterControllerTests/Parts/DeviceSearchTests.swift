import MatterModel
@testable import MatterProtocol
import Testing

@testable import MatterController

/// The search for a device. An address is identified by its port, a handshake by the port of its address.
@Suite struct DeviceSearchTests {
  private func search(_ target: CommissioningRequest.Target) -> DeviceSearch {
    DeviceSearch(CommissioningRequest(passcode: 20_202_021, target: target), at: .zero)
  }

  private func search(_ ports: [UInt16]) -> DeviceSearch {
    search(.addresses(ports.map { SocketAddress(.loopback6, port: $0) }))
  }

  private func service(
    _ instance: UInt64 = 1, discriminator: UInt16 = 0x301, port: UInt16, mode: UInt8 = 1
  ) -> MatterService {
    var service = MatterService(
      kind: .commissionable(instance: instance), hostName: "000000000001", port: port, addresses: [.loopback6])
    service.discriminator = discriminator
    service.commissioningMode = mode
    return service
  }

  /// Performs the actions until the search waits or fails.
  private func advance(
    _ search: inout DeviceSearch, to now: Instant, responding: Set<HandshakeID> = []
  ) -> (actions: [String], last: DeviceSearch.Step) {
    var actions: [String] = []
    while true {
      let step = search.next(at: now) { responding.contains($0) }
      switch step {
      case .start(let candidate):
        actions.append("start \(candidate.address.port)")
        search.started(.number(UInt32(candidate.address.port)), with: candidate, at: now)
      case .cancel(let handshake): actions.append("cancel \(handshake.rawValue)")
      case .widen(let query): actions.append("widen \(query == .commissionable(.any))")
      case .wait, .fail: return (actions, step)
      }
    }
  }

  @Test("prefers the product in the code among devices with the same discriminator") func prefersProduct() {
    var request = CommissioningRequest(passcode: 20_202_021, target: .discriminator(.long(0x301)))
    request.product = .init(vendorID: 0xFFF1, productID: 0x8001)
    var search = DeviceSearch(request, at: .zero)
    for (instance, product) in [(UInt64(1), UInt16(0x8002)), (2, 0x8001)] {
      var service = service(instance, port: UInt16(instance))
      service.setVendor(0xFFF1, product: product)
      let isOffered = search.offer(service, at: .zero)
      #expect(isOffered)
    }
    #expect(advance(&search, to: .zero).actions == ["start 2"])
    search.failed(.wrongPasscode, at: .at(1))
    #expect(advance(&search, to: .at(1)).last == .wait(.at(2)))
    #expect(advance(&search, to: .at(2)).actions == ["start 1"])
  }

  // MARK: Attempts

  @Test("waits for a slow device that has responded") func keepsAttemptWithResponse() {
    var search = search([1, 2])
    #expect(advance(&search, to: .zero).actions == ["start 1"])
    let waiting = advance(&search, to: .at(9), responding: [.number(1)])
    #expect(waiting.actions.isEmpty && waiting.last == .wait(nil) && search.wakeUp == nil)
    search.failed(.timedOut, at: .at(10))
    #expect(advance(&search, to: .at(10)).actions == ["start 2"])
  }

  @Test("tries each address for three seconds in turn, three times") func takesTurns() {
    var search = search([1, 2])
    var log: [[String]] = []
    for second in stride(from: 0.0, through: 15, by: 3) {
      let (actions, last) = advance(&search, to: .at(second))
      log.append(actions)
      #expect(last == .wait(second < 15 ? .at(second + 3) : nil))
    }
    #expect(
      log == [
        ["start 1"], ["cancel 1", "start 2"], ["cancel 2", "start 1"], ["cancel 1", "start 2"],
        ["cancel 2", "start 1"],
        ["cancel 1", "start 2"],
      ])
    // The last attempt runs until it ends.
    let later = advance(&search, to: .at(40))
    #expect(later.actions.isEmpty && later.last == .wait(nil))
    search.failed(.timedOut, at: .at(50))
    let end = advance(&search, to: .at(50)).last
    #expect(end == .fail(.unreachable))
  }

  @Test func keepsOnlyAttemptWithoutOtherCandidates() {
    var search = search([1])
    let first = advance(&search, to: .zero)
    #expect(first.last == .wait(nil))
    let later = advance(&search, to: .at(30))
    #expect(later.actions.isEmpty)
  }

  @Test func failsWithoutAddresses() {
    var search = search([])
    let step = search.next(at: .zero) { _ in false }
    #expect(step == .fail(.notFound))
  }

  @Test("does not count busy answers within the first minute") func retriesBusyDevice() {
    var search = search([1])
    for second in stride(from: 0.0, to: 60, by: 10) {
      let (actions, _) = advance(&search, to: .at(second))
      #expect(actions == ["start 1"])
      search.failed(.busy(wait: .seconds(10)), at: .at(second))
      let last = advance(&search, to: .at(second)).last
      #expect(last == .wait(.at(second + 10)))
    }
    for second in [60, 70.0] {
      let (actions, _) = advance(&search, to: .at(second))
      #expect(actions == ["start 1"])
      search.failed(.busy(wait: .seconds(10)), at: .at(second))
    }
    let third = advance(&search, to: .at(80))
    #expect(third.actions == ["start 1"])
    search.failed(.busy(wait: .seconds(10)), at: .at(80))
    let end = advance(&search, to: .at(80)).last
    #expect(end == .fail(.busy))
  }

  @Test("tries an address again after an interrupted handshake, three times in all") func retriesInterrupted() {
    var search = search([1])
    for second in [0.0, 11, 22] {
      let (actions, _) = advance(&search, to: .at(second))
      #expect(actions == ["start 1"])
      // Also if the device does not answer at all in between, as while it restarts.
      if second != 11 { search.noteResponse() }
      search.failed(.timedOut, at: .at(second + 10))
    }
    let end = advance(&search, to: .at(33)).last
    #expect(end == .fail(.unreachable))
  }

  @Test("tries other addresses before that of an interrupted handshake") func interruptedIsLast() {
    var search = search([1, 2])
    _ = advance(&search, to: .zero)
    search.noteResponse()
    search.failed(.timedOut, at: .at(2))
    let (actions, _) = advance(&search, to: .at(3))
    #expect(actions == ["start 2"])
    search.failed(.wrongPasscode, at: .at(4))
    let again = advance(&search, to: .at(4)).actions
    #expect(again == ["start 1"])
  }

  @Test("waits for the session of an interrupted handshake to end") func waitsAfterInterruption() {
    let refusal = HandshakeError.refused(.invalidParameter)
    var search = search([1])
    _ = advance(&search, to: .zero)
    search.noteResponse()
    search.failed(.timedOut, at: .zero)
    for second in stride(from: 1.0, to: 66, by: 5) {
      let (actions, _) = advance(&search, to: .at(second))
      #expect(actions == ["start 1"])
      search.failed(refusal, at: .at(second))
      let last = advance(&search, to: .at(second)).last
      #expect(last == .wait(.at(second + 5)))
    }
    _ = advance(&search, to: .at(71))
    search.failed(refusal, at: .at(71))
    let end = advance(&search, to: .at(71)).last
    #expect(end == .fail(.handshake(refusal)))
    // Without an interruption, a refusal is final.
    var other = self.search([1])
    _ = advance(&other, to: .zero)
    other.failed(refusal, at: .zero)
    let first = advance(&other, to: .zero).last
    #expect(first == .fail(.handshake(refusal)))
  }

  @Test func limitsWaitOfBusyDevice() {
    var search = search([1])
    _ = advance(&search, to: .zero)
    search.failed(.busy(wait: .seconds(1000)), at: .zero)
    let last = advance(&search, to: .zero).last
    #expect(last == .wait(.at(60)))
  }

  @Test("fails with the last error; a timeout replaces no other error") func lastError() {
    for (errors, expected) in [
      ([.timedOut, .noResources], ControllerError.handshake(.noResources)),
      ([.noResources, .timedOut], .handshake(.noResources)),
      ([.timedOut, .wrongPasscode], .wrongPasscode), ([.wrongPasscode, .timedOut], .wrongPasscode),
    ] as [([HandshakeError], ControllerError)] {
      var search = search([1, 2])
      for error in errors {
        _ = advance(&search, to: .zero)
        search.failed(error, at: .zero)
      }
      let last = advance(&search, to: .zero).last
      #expect(last == .fail(expected))
    }
  }

  // MARK: Discovery

  @Test("also queries all devices after two seconds without a match by subtype") func widens() {
    for target in [CommissioningRequest.Target.discriminator(.long(0x301)), .discriminator(.short(3)), .any] {
      var search = search(target)
      let first = advance(&search, to: .zero)
      #expect(first.actions.isEmpty && first.last == .wait(.at(2)))
      let second = advance(&search, to: .at(2))
      #expect(second.actions == ["widen true"] && second.last == .wait(.at(15)))
      #expect(search.queries.count == 2 && search.queries.last == .commissionable(.any))
      let end = advance(&search, to: .at(15)).last
      #expect(end == .fail(.notFound))
    }
    var instance = search(.instance(7))
    let first = advance(&instance, to: .zero).last
    #expect(first == .wait(.at(15)), "an instance name is not a subtype")
  }

  @Test func doesNotWidenAfterMatch() {
    var search = search(.discriminator(.long(0x301)))
    _ = search.offer(service(port: 1), at: .at(1))
    _ = advance(&search, to: .at(1))
    let later = advance(&search, to: .at(2))
    #expect(later.actions.isEmpty && search.queries.count == 1)
  }

  @Test func offersOnlyMatchingServices() {
    var search = search(.discriminator(.short(3)))
    let offers = [
      service(1, discriminator: 0x401, port: 1), service(2, port: 2, mode: 0),
      service(3, discriminator: 0x3FF, port: 3),
      service(3, discriminator: 0x3FF, port: 3), service(4, port: 4),
    ].map { search.offer($0, at: .zero) }
    #expect(offers == [false, false, true, true, true])
    let first = advance(&search, to: .zero).actions
    let second = advance(&search, to: .at(3)).actions
    let third = advance(&search, to: .at(6)).actions
    #expect([first, second, third] == [["start 3"], ["cancel 3", "start 4"], ["cancel 4", "start 3"]])
    // The address under attempt is not added again: each address has three attempts.
    _ = search.offer(service(3, discriminator: 0x3FF, port: 3), at: .at(6))
    let others = [9, 12, 15].map { advance(&search, to: .at($0)).actions }
    #expect(others == [["cancel 3", "start 4"], ["cancel 4", "start 3"], ["cancel 3", "start 4"]])
  }

  @Test("ignores a device with another passcode, and soon stops searching for others") func wrongPasscode() {
    var search = search(.discriminator(.long(0x301)))
    var first = service(1, port: 1)
    first.addresses = [.loopback6, .loopback4]
    _ = search.offer(first, at: .zero)
    _ = advance(&search, to: .zero)
    search.failed(.wrongPasscode, at: .at(0.5))
    let (actions, last) = advance(&search, to: .at(0.5))
    #expect(actions.isEmpty && last == .wait(.at(2)), "its other address is dropped")
    let again = search.offer(service(1, port: 9), at: .at(1))
    #expect(!again)
    let other = search.offer(service(2, port: 2), at: .at(1))
    let next = advance(&search, to: .at(1)).actions
    #expect(other && next == ["start 2"])
    search.failed(.wrongPasscode, at: .at(1.5))
    let end = advance(&search, to: .at(2))
    #expect(end.actions.isEmpty && end.last == .fail(.wrongPasscode))
  }
}

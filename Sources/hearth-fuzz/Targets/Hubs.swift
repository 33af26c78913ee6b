import HearthHome
import Hub
import MatterModel
import MatterProtocol
import NIOCore

// JSON from a network peer: the commands of a client, and the events and results of a hub.
extension FuzzTarget {
  static let hub = FuzzTarget(name: "hub", seeds: HubInput.seeds, run: HubInput.run)
}

/// The first byte of an input selects the receiver; the rest is the text.
private enum HubInput {
  enum Mode: UInt8, CaseIterable {
    case hub
    case client
  }

  static func run(_ input: [UInt8]) {
    guard let first = input.first, let mode = Mode(rawValue: first % UInt8(Mode.allCases.count)) else { return }
    let text = Array(input.dropFirst())
    switch mode {
    case .hub: if let message = try? HubMessage(text) { check(message) }
    case .client: if let news = try? HubNews(text) { check(news) }
    }
  }

  private static func check(_ message: HubMessage) {
    if case .request(_, let request, _, _) = message {
      // A higher role must include the permissions of the lower ones.
      let allowed = HomeRole.allCases.sorted().map { request.isAllowed(to: $0) }
      if allowed != allowed.sorted(by: { !$0 && $1 }) { FuzzTarget.finding("a lower role has more permissions") }
    }
    // A duration may be too long to be encoded.
    guard let text = try? message.text else { return }
    guard let again = try? HubMessage(Array(text.readableBytesView)) else {
      FuzzTarget.finding("an encoded command can't be decoded")
    }
    if "\(again)" != "\(message)", (try? again.text) != text {
      FuzzTarget.finding("a command changes when encoded again")
    }
  }

  private static func check(_ news: HubNews) {
    guard let text = try? news.text else { return }
    guard let again = try? HubNews(Array(text.readableBytesView)) else {
      FuzzTarget.finding("an encoded message of a hub can't be decoded")
    }
    if (try? again.text) != text { FuzzTarget.finding("a message of a hub changes when encoded again") }
  }

  @Sendable static func seeds() -> [[UInt8]] {
    let path = AttributePath(endpoint: 1, cluster: 8, attribute: 0)
    let requests: [HomeRequest] = [
      .edit(edits: [
        .choosePrimaryStructure(id: "home"), .addRoom(name: "Den", structureID: nil), .moveDevice(id: "5", roomID: "r"),
      ]),
      .read(node: 5, paths: [path, AttributePath()], isFabricFiltered: true, timeout: .seconds(1)),
      .write(node: 5, writes: [AttributeWrite(path, value: [0x04, 9])], isTimed: false),
      .writeDevice(
        device: "5", source: SourceID(7, 3), writes: [AttributeWrite(path, .append, dataVersion: 1, value: [0x04, 9])],
        isTimed: true,
        timeout: nil),
      .invoke(
        node: 5, command: CommandData(CommandPath(endpoint: 1, cluster: 6, command: 1), fields: [0x15, 0x18]),
        isTimed: false),
      .samples(after: Anchor("h1-2"), filter: SampleFilter(.attribute, devices: ["5"]), limit: 10), .status,
      .revoke(name: "Ada"),
      .anchor,
    ]
    let messages =
      [HubMessage.start(HubStart(name: "fuzz", position: HubPosition(hub: 1, count: 2)))]
      + requests.enumerated().map { .request(id: "\($0)", $1, origin: "me") }
    let change = HomeChange.attribute(5, ConcreteAttributePath(1, 8, 0), value: [0x04, 9])
    let position = HubPosition(hub: 1, count: 1)
    let news: [HubNews] =
      [
        .welcome(HubWelcome(.guest, home: "h", client: "c", isResumed: true)), .refused(HomeError(.accessDenied, "no")),
        .part([change]), .update(HubUpdate(HomeUpdate([change], at: 1), [5: Contact(last: 1)], position)),
        .debouncer(
          DebouncerState(
            grace: .seconds(5), trials: ["5": DebounceTrial(settled: .init(.online, .peer), since: 5)], time: 7)),
      ] + (Anchor("h1-2").map { [.reply(id: "1", .success(.anchor(anchor: $0)))] } ?? [])
    func input(_ mode: Mode, _ text: ByteBuffer?) -> [UInt8] {
      [mode.rawValue] + (text.map { Array($0.readableBytesView) } ?? [])
    }
    return messages.map { input(.hub, try? $0.text) } + news.map { input(.client, try? $0.text) }
  }
}

import HearthHome
import NIOCore
import Runtime

/// Measures a hub with clients on a Unix socket: from the report of a device, through the home, to WebSocket frames.
func hubRows(_ report: inout Report, _ options: Options) throws {
  OpenFileLimit.raise(to: .max)
  let stored = try StoredDevices(BenchHub.devices)
  defer { stored.remove() }
  let hub = try BenchHub(stored.state)
  let measured = Result {
    (standard: try Deliveries(hub, .standard, options), own: try Deliveries(hub, .own, options))
  }
  try hub.close()
  let (standard, own) = try measured.get()
  let bare = try BareBroadcast(standard.size)
  defer { bare.close() }
  let floor = try Deliveries(bare, .bare, options)

  let (many, few) = (Deliveries.many, Deliveries.few)
  report.add(Row(name: "frames to \(many) sockets (the floor): frames received", rate: floor.most.rate, ratio: 1))
  for (name, delivery) in [("clients", standard.most), ("clients of the additions", own.most)] {
    report.add(
      Row(
        name: "hub: \(many) \(name): events received", rate: delivery.rate, ratio: floor.most.rate / delivery.rate))
  }
  let steady = standard.steady
  report.add(
    Row(
      name: "hub: \(Deliveries.manyRate) reports a second to \(many) clients: events received", rate: steady.rate,
      target: .init(text: "10,000/s on 2 cores", isMet: steady.rate >= 10_000 && steady.cores <= 2)))
  report.add("the floor at this rate: processor time for a frame", Measured(times: [floor.steady.serverTimePerEvent]))
  report.add("hub at this rate: processor time for an event", Measured(times: [steady.serverTimePerEvent]))

  let base = floor.quick.latency
  report.add("1,000 frames a second to \(few) sockets (the floor): until received", base, ratio: 1)
  for (name, delivery) in [("clients", standard.quick), ("clients of the additions", own.quick)] {
    let latency = delivery.latency
    report.add(
      "hub: 1,000 reports a second to \(few) \(name): until received", latency, ratio: latency.median / base.median)
  }
  let network = try NetworkReports.run(for: options.isQuick ? 1_000 : 5_000)
  report.add(
    "hub: 1,000 reports a second of devices to \(NetworkReports.clients) clients over TLS: until received",
    network.latency, ratio: network.latency.median / base.median,
    target: .init(text: "p99 5 ms", isMet: (network.latency.p99 ?? .infinity) < 5_000_000))
  for (name, bytes) in [
    ("client", try IdleClients.memory(stored.state, many, .standard)),
    ("client of the additions", try IdleClients.memory(stored.state, many, .own)),
    ("client over TLS", try IdleClients.networkMemory(stored.state)),
  ] {
    report.add(
      Row(name: "hub: memory for an idle \(name)", bytes: bytes, target: .init(text: "40 KiB", isMet: bytes <= 40_960)))
  }
  report.notes.append(
    """
    Clients are sockets that one thread reads; a floor is a server that sends prepared frames of \(standard.size) bytes. \
    With \(Deliveries.manyRate) reports a second to \(many) clients, on \(System.coreCount) cores, the hub used \
    \(steady.serverShare) % of a core and the thread of the clients \(steady.clientShare) %; the last client had received \
    an event after \(steady.longest) µs at most. The reports of these rows are injected into the home; those to clients over \
    TLS are encrypted datagrams of \(NetworkReports.devices) devices that follow a change of a value, through UDP sockets, and \
    \(network.merged) of \(network.latency.times.count) values were replaced by a later one in the same report. The memory of clients is the growth of the resident memory of a hub in \
    another process.
    """)
}

extension Delivery {
  fileprivate var serverTimePerEvent: Double { serverTime / Double(max(1, events)) }
  fileprivate var serverShare: Int { Int((100 * serverTime / elapsed).rounded()) }
  fileprivate var clientShare: Int { Int((100 * clientTime / elapsed).rounded()) }
  /// The longest time until an event was received, in microseconds.
  fileprivate var longest: Int { Int((latency.times.max() ?? 0) / 1_000) }
}

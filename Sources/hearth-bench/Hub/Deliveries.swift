/// The deliveries of one server.
struct Deliveries {
  static let many = 500, few = 4
  /// The events a second, to many clients and to a few.
  static let manyRate = 20, fewRate = 1_000

  /// To many clients, as many events as they receive.
  let most: Delivery
  /// To many clients, at a fixed rate.
  let steady: Delivery
  /// To a few clients, at a fixed rate.
  let quick: Delivery
  /// The size of an event in bytes.
  let size: Int

  init(_ server: some EventServer, _ kind: SocketClients.Kind, _ options: Options) throws {
    let time = options.isQuick ? 500 : 2_000
    let many = try SocketClients(server.socket, Self.many, kind)
    try server.wait(forClients: Self.many)
    // Warm-up.
    _ = try many.deliver(rate: Self.manyRate, for: 200, server.inject)
    steady = try many.deliver(rate: Self.manyRate, for: time, server.inject)
    most = try many.deliver(for: time, server.inject)
    size = many.eventSize
    many.close()
    try server.wait(forClients: 0)
    let few = try SocketClients(server.socket, Self.few, kind)
    try server.wait(forClients: Self.few)
    _ = try few.deliver(rate: Self.fewRate, for: 200, server.inject)
    quick = try few.deliver(rate: Self.fewRate, for: time, server.inject)
    few.close()
    try server.wait(forClients: 0)
  }
}

import MatterCertificates
import MatterController
import MatterCrypto
import MatterModel
import MatterProtocol
import NIOCore
import Runtime

/// A controller that writes as fast as writes are acknowledged, to all streams concurrently. Confined to its loop.
///
/// It uses the state that `hearth pair` stored and stores nothing itself, so each run of the devices gets a new one.
final class KillWriter {
  private(set) var streams: [KillStream]
  /// Errors that occurred before the devices were killed.
  private(set) var problems: [String] = []
  private(set) var acknowledgments = 0
  private let host: EngineHost<ControllerEngine>
  private var random: SeededRandomSource
  private var writes: [OperationID: Int] = [:]
  private var reads: [OperationID: EventLoopPromise<ReassembledReport>] = [:]
  private var isWriting = false

  init(_ streams: [KillStream], state: StoredState, random: SeededRandomSource, on loop: any EventLoop) throws {
    self.streams = streams
    self.random = random
    let configuration = ControllerConfiguration(notBefore: Nodes.notBefore, attestation: try TestAttestation.verifier())
    let engine = try ControllerEngine(configuration, state: state, random: SystemRandomSource())
    host = EngineHost(engine, transport: UDPTransport(try BoundSockets(.loopback), on: loop), logger: quiet)
    host.onEvent = { [unowned self] in received($0) }
    host.start()
  }

  /// Reads the attributes of all streams of a node.
  func read(_ node: NodeID, at address: MatterProtocol.SocketAddress) -> EventLoopFuture<ReassembledReport> {
    let promise = host.eventLoop.makePromise(of: ReassembledReport.self)
    let paths = streams.filter { $0.node == node }.map { AttributePath($0.path) }
    host.perform { engine, now in
      engine.setAddress(address, of: node)
      reads[engine.read(node, paths, timeout: .seconds(20), at: now)] = promise
    }
    return promise.futureResult
  }

  /// Compares a report with the known values, and makes the reported values the known ones.
  /// - Returns: descriptions of the differences.
  func check(_ report: ReassembledReport, of node: NodeID) -> [String] {
    var problems: [String] = []
    for index in streams.indices where streams[index].node == node {
      let name = streams[index].name
      guard let value = report[streams[index].path]?.value else {
        problems.append("\(name) can't be read: \(report.statuses)")
        continue
      }
      do {
        if try !streams[index].allows(value) {
          problems.append(
            "\(name) is \(text(value)), but \(text(streams[index].known)) was acknowledged"
              + (streams[index].requested.map { " and \(text($0)) requested" } ?? ""))
        }
        try streams[index].setKnown(value)
      } catch {
        problems.append("\(name) can't be decoded: \(error)")
      }
    }
    return problems
  }

  private func text(_ bytes: [UInt8]) -> String { bytes.hexadecimal.lowercased() }

  func beginWriting() {
    isWriting = true
    for index in streams.indices { write(index) }
  }

  func stop() {
    isWriting = false
    host.stop(silently: true)
    for promise in reads.values { promise.fail(BenchError("stopped")) }
    reads = [:]
  }

  private func write(_ index: Int) {
    do {
      try host.perform { engine, now in
        writes[try streams[index].start(&random, &engine, at: now)] = index
      }
    } catch {
      problems.append("\(streams[index].name): \(error)")
    }
  }

  private func received(_ event: ControllerEvent) {
    guard case .completed(let id, let result) = event else { return }
    if let promise = reads.removeValue(forKey: id) {
      switch result {
      case .success(.report(let report)): promise.succeed(report)
      case .success(let other): promise.fail(BenchError("\(other)"))
      case .failure(let error): promise.fail(error)
      }
    }
    guard let index = writes.removeValue(forKey: id) else { return }
    do {
      switch try result.get() {
      case .written(let statuses): try statuses.check()
      case .invoked(let results): try results.checkStatus()
      case let other: throw BenchError("\(other)")
      }
      acknowledgments += 1
      streams[index].acknowledged()
      if isWriting { write(index) }
    } catch {
      if isWriting { problems.append("\(streams[index].name) was refused: \(error)") }
    }
  }
}

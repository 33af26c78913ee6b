package import HomeModel
public import MatterModel

/// A virtual device that runs on the machine of the home.
public struct SimulatedNode: Hashable, Sendable, Codable {
  /// The id of its process.
  public var process: Int32
  /// `room/name`, or the name alone, in its definition.
  public var path: String
  /// The node of the home; nil: the device is not in the fabric of the home.
  public var node: NodeID?

  package init(process: Int32, path: String, node: NodeID?) {
    (self.process, self.path, self.node) = (process, path, node)
  }
}

/// Access to the virtual devices that run with the state directory of the home. The calls block.
package protocol SimulationControl: Sendable {
  /// Returns the running devices, with their nodes on this fabric.
  func devices(on fabric: FabricID) -> [SimulatedNode]
  /// Sends a request to a process and returns the reply, both as one line of JSON.
  func send(_ request: String, to process: Int32) throws(HomeError) -> String
}

internal import HomeModel
internal import MatterProtocol
internal import Runtime

/// Stores the state of the controller in the database of the home. Confined to the event loop.
///
/// Durable changes are on the disk when the call returns. Others are stored together with the next changes of the home.
final class ControllerStore: NodeStore {
  private let writer: HomeWriter
  private let state: StoredState
  /// The update of the home that is stored in the same transaction as the next changes.
  var update: HomeUpdate?

  init(_ writer: HomeWriter, state: StoredState) { (self.writer, self.state) = (writer, state) }

  func load() -> StoredState { state }

  func commit(_ changes: [StoreChange]) throws(StoreError) { try writer.commit(changes, with: update.take()) }

  /// Does nothing: ``HomeWriter`` closes the database.
  func close() {}
}

internal import HomeControl
package import HomeModel

extension Home {
  /// See ``HomeController/awaited()``; none through a hub, which tells of devices alone.
  package func awaited() async -> (devices: [HomeDevice], home: HomeState) {
    guard let controller = backend as? HomeController else { return ([], await state) }
    return await controller.awaited()
  }
}

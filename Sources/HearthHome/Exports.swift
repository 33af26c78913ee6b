// The public API of a home spans the modules below; importing this module gives all of it.
@_exported public import CloudLink
@_exported public import HomeAutomation
@_exported public import HomeControl
@_exported public import HomeModel
@_exported public import HomeStore
@_exported public import Hub
@_exported public import WebClient

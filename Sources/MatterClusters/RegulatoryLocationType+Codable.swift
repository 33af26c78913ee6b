// A commissioner stores the location of a node as its number.
extension GeneralCommissioning.RegulatoryLocationType: Codable {}

package io.github.iree4j;

/** The package exported by this module to others of this project. */
class VirtualDevicesApiTest extends PublicApiTest {}

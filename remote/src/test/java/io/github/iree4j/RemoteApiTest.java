package io.github.iree4j;

/** The public API of this module, like the listing of {@code runtime-core}. */
class RemoteApiTest extends PublicApiTest {}

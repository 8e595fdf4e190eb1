package io.github.iree4j;

/** The promise of this module, as {@code runtime-core} has its own. */
class StreamApiTest extends PublicApiTest {}

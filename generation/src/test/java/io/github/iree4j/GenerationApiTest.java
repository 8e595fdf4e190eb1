package io.github.iree4j;

/** The packages that this module exports to others of this project. */
class GenerationApiTest extends PublicApiTest {}

package io.github.iree4j;

/** The packages exported by this module to others of this project. */
class LaboratoryApiTest extends PublicApiTest {}

/** Text generation beside plain loops over the same functions. */
package io.github.iree4j.generation;

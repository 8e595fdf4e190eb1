/** Runtime core for compiled ML programs. */
module io.github.iree4j.runtime {
    requires static org.jspecify;
    requires org.slf4j;
    requires org.jctools.core;
}

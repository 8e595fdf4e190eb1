package io.github.iree4j.spring.autoconfigure.http;

import org.springframework.core.env.Environment;

/** The threads of a servlet container. Limits without configuration take a share of the threads. */
public final class ServerThreads {

    /** The number of threads in containers without configuration. */
    private static final int DEFAULT = 200;

    private ServerThreads() {}

    /**
     * Returns a number of requests that leaves threads to other requests.
     *
     * @param environment the configuration of the server
     * @param share the denominator of the share
     * @param otherwise the number when each request has a virtual thread
     * @return at least 1
     */
    public static int share(Environment environment, int share, int otherwise) {
        if (environment.getProperty("spring.threads.virtual.enabled", Boolean.class, false)) {
            return otherwise;
        }
        int threads = Math.min(
                environment.getProperty("server.tomcat.threads.max", Integer.class, DEFAULT),
                environment.getProperty("server.jetty.threads.max", Integer.class, DEFAULT));
        return Math.clamp(threads / share, 1, otherwise);
    }
}

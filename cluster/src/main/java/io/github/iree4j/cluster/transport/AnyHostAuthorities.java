package io.github.iree4j.cluster.transport;

import java.net.Socket;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.List;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;
import javax.net.ssl.X509TrustManager;

/**
 * Verifies that a certificate is of a trusted authority, whatever the dialed host: for addresses from a discovery, such as
 * the numeric address of a pod. The certificate is compared with the host advertised by the node later, by
 * {@link CertificateNames}.
 */
final class AnyHostAuthorities extends X509ExtendedTrustManager {
    private final X509TrustManager authorities;

    private AnyHostAuthorities(X509TrustManager authorities) {
        this.authorities = authorities;
    }

    static List<TrustManager> of(List<TrustManager> authorities) {
        return authorities.stream()
                .map(each -> each instanceof X509TrustManager known ? new AnyHostAuthorities(known) : each)
                .toList();
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String kind) throws CertificateException {
        authorities.checkServerTrusted(chain, kind);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String kind, Socket socket) throws CertificateException {
        authorities.checkServerTrusted(chain, kind);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String kind, SSLEngine engine) throws CertificateException {
        authorities.checkServerTrusted(chain, kind);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String kind) throws CertificateException {
        authorities.checkClientTrusted(chain, kind);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String kind, Socket socket) throws CertificateException {
        authorities.checkClientTrusted(chain, kind);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String kind, SSLEngine engine) throws CertificateException {
        authorities.checkClientTrusted(chain, kind);
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
        return authorities.getAcceptedIssuers();
    }
}

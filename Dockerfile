# The image holds one static binary, certificates and an empty data folder.

FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=dev
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=$VERSION" -o /out/usr/local/bin/broker ./cmd/broker \
 && ln -s broker /out/usr/local/bin/rabbitmqctl \
 && ln -s broker /out/usr/local/bin/rabbitmq-diagnostics \
 && ln -s broker /out/usr/local/bin/rabbitmq-queues \
 && ln -s broker /out/usr/local/bin/rabbitmq-upgrade \
 && ln -s broker /out/usr/local/bin/rabbitmq-plugins \
 && mkdir -p /out/var/lib/leveret /out/etc/ssl/certs \
 && cp /etc/ssl/certs/ca-certificates.crt /out/etc/ssl/certs/

FROM scratch
COPY --from=build /out/usr /usr
COPY --from=build /out/etc /etc
# A number, so that a cluster can see that it isn't root; a new volume takes the folder's owner.
COPY --from=build --chown=65532:65532 /out/var/lib/leveret /var/lib/leveret
USER 65532:65532

# In a container "loopback" is the container itself, so guest may come from everywhere, as in RabbitMQ's image.
ENV PATH=/usr/local/bin \
    LEVERET_DATA_DIR=/var/lib/leveret \
    LEVERET_LOOPBACK_USERS=none
VOLUME /var/lib/leveret
# AMQP, HTTP, Prometheus
EXPOSE 5672 15672 15692
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["/usr/local/bin/broker", "health"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/local/bin/broker"]
CMD ["serve"]

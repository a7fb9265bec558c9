# The server in a container: `docker build -t loopwatch .`, see docs/howto/run-the-server.md.
FROM node:20-slim AS assets
WORKDIR /src
COPY tools ./tools
RUN tools/console-assets

FROM python:3.11-slim AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
COPY --from=assets /src/src/loopwatch/server/pages/static/vendor ./src/loopwatch/server/pages/static/vendor
RUN python -m venv /opt/loopwatch && /opt/loopwatch/bin/pip install --no-cache-dir '.[server,postgres,valkey]'

FROM python:3.11-slim
RUN useradd --system --uid 10001 --home-dir /data loopwatch && install -d -o loopwatch -g loopwatch /data
COPY --from=build /opt/loopwatch /opt/loopwatch
ENV PATH=/opt/loopwatch/bin:$PATH LOOPWATCH_DB=sqlite:////data/loopwatch.db PYTHONUNBUFFERED=1
USER loopwatch
VOLUME /data
EXPOSE 8700
HEALTHCHECK CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8700/readyz', timeout=2)"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["loopwatch"]
CMD ["serve", "--host", "0.0.0.0"]
